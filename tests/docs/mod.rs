//! The documents against the code.

mod release;
mod requirements;
