"""From type tokens to the provider SDK's own classes, of modules the program has imported already."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from pulumi.runtime import rpc


@cache
def resource_class(type_token: str) -> type[Any] | None:
    """Return the SDK class of a resource type; None for a component, an unknown type or a module not imported."""
    package, _, rest = type_token.partition(":")
    module_name, _, _ = rest.partition(":")
    if type_token.startswith("pulumi:providers:"):
        found = rpc.get_resource_package(type_token.rpartition(":")[2], "")
        info = getattr(found, "pkg_info", None)
        return None if info is None else _attribute(info["fqn"], info["class"])
    found = rpc.get_resource_module(package, module_name, "")
    info = getattr(found, "mod_info", None)
    return None if info is None else _attribute(info["fqn"], info["classes"].get(type_token, ""))


def args_class(found: type[Any]) -> type[Any] | None:
    """Return the class of a resource class's arguments, which its SDK module defines beside it."""
    module = vars(sys.modules[found.__module__])
    return module.get(f"{found.__name__}InitArgs") or module.get(f"{found.__name__}Args")


def _attribute(module_name: str, attribute: str) -> type[Any] | None:
    """Return a class of an imported module; a module that is not imported stays so."""
    module = sys.modules.get(module_name)
    return None if module is None else vars(module).get(attribute)
