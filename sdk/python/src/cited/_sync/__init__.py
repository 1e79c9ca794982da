"""The client without `async`, made from `cited._async` by `make sdk`: change that one."""
