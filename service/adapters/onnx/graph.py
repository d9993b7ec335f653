"""A few lines on top of ``onnx.helper`` to write a graph as a sequence of calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

Attribute = int | float | str | list[int]

OPSET = 20
IR_VERSION = 9
CONTRIB = "com.microsoft"
SMALL = 4  # elements up to which equal constants are shared


class GraphBuilder:
    """Collects nodes and constants, named by counters so that the output is deterministic."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._small: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def const(self, value: NDArray[Any] | np.generic) -> str:
        """Return the name of a constant; equal small constants share one."""
        array = np.asarray(value)
        if array.ndim:
            array = np.ascontiguousarray(array)
        key = (str(array.dtype), array.shape, array.tobytes() if array.size <= SMALL else b"")
        if array.size <= SMALL and key in self._small:
            return self._small[key]
        name = f"const_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(array, name))
        self._small[key] = name
        return name

    def ints(self, *values: int) -> str:
        """Return the name of a one-dimensional int64 constant."""
        return self.const(np.array(values, dtype=np.int64))

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Attribute) -> str:
        """Append a node with one output and return the output's name."""
        return self.ops(kind, *inputs, outputs=1, domain=domain, **attributes)[0]

    def ops(
        self, kind: str, *inputs: str, outputs: int, domain: str = "", **attributes: Attribute
    ) -> list[str]:
        """Append a node with several outputs and return their names."""
        name = f"{kind}_{len(self._nodes)}"
        names = [f"{name}_{index}" for index in range(outputs)]
        node = helper.make_node(kind, list(inputs), names, name=name, domain=domain)
        node.attribute.extend(helper.make_attribute(k, v) for k, v in sorted(attributes.items()))
        self._nodes.append(node)
        return names

    def model(
        self,
        name: str,
        inputs: list[ValueInfoProto],
        outputs: dict[str, tuple[str, list[str | int]]],
    ) -> ModelProto:
        """Return the finished model; ``outputs`` maps a public name to (value, shape)."""
        infos = []
        for public, (value, shape) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value], [public], name=public))
            infos.append(helper.make_tensor_value_info(public, TensorProto.FLOAT, shape))
        graph = helper.make_graph(self._nodes, name, inputs, infos, self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="groundkeeper"
        )
