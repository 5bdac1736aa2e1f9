"""A toy project: a site exports an endpoint and a secret, a hub reads them by reference, anything else fails."""

import pulumi

settings = pulumi.Config()
match settings.require("kind"):
    case "site":
        pulumi.export("endpoint", f"https://192.0.2.{settings.require_int('count') - 2}")
        pulumi.export("access", pulumi.Output.secret({"user": settings.require("password")}))
    case "hub":
        site = pulumi.StackReference("organization/toy/good")
        pulumi.export("endpoint", site.require_output("endpoint"))
        pulumi.export("user", site.require_output("access").apply(lambda access: access["user"]))
    case _:
        message = "no such kind"
        raise ValueError(message)
