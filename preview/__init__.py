"""The offline preview: runs the program under the SDK's own mocks and collects every declared resource."""
