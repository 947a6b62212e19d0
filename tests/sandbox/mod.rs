//! What a worker can and cannot reach, asked by a worker through the production launcher.

mod isolation;
mod probe;
mod twins;
