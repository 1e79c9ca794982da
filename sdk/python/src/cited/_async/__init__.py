"""The client with `async`. The one without, `cited._sync`, is made from it by `make sdk`."""
