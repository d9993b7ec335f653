"""What implements the ports, one package per technology.

ONNX Runtime's official builds send usage events to their maker and keep a device id in the user's
home unless told not to before they are first imported, so that happens here. Nothing that is
checked may cause a connection to anywhere.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
