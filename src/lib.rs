//! The trusted harness of ghidr.
