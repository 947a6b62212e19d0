//! A hostile worker against the built executable, and every way in which one can end.

mod codes;
mod corruption;
mod doctor;
mod endings;
mod facts;
mod fields;
mod response_file;
