"""The laws of `gradcli.autograd` and `gradcli.func`."""
