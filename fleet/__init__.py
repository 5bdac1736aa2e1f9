"""The pure core: inventory and catalogue in, a frozen fleet plan out. Imports no Pulumi, no cloud SDK, no clock."""
