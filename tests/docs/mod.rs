//! The documents against the code.

mod requirements;
