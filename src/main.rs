//! The `ghidr` executable.

fn main() {}
