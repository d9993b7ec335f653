"""Models on ONNX Runtime; ``service.adapters.onnx.loading`` is the way in."""
