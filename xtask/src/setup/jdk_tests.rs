//! Which directories are full JDKs, and which one is chosen.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn the_verified_version_wins_over_an_earlier_candidate() {
    let make = |feature: u32| Jdk { home: PathBuf::from(format!("/jdk-{feature}")), feature };
    let range = JavaRange { minimum: 17, maximum: Some(21) };
    let found = [make(11), make(21), make(17), make(24)];
    assert_eq!(choose(&found, range, 17), Some(&found[2]));
    assert_eq!(choose(&found[..2], range, 17), Some(&found[1]));
    assert_eq!(choose(&[make(11), make(24)], range, 17), None);
}
