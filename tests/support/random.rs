//! Repeatable random numbers: the same for the same seed and name, on every machine.

use sha2::{Digest as _, Sha256};

/// A sequence that its seed and name determine.
pub struct Random(u64);

impl Random {
    /// The sequence of `name` under `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        let digest = Sha256::digest(format!("{seed}/{name}"));
        Self(u64::from_le_bytes(digest[..8].try_into().unwrap()))
    }

    /// The next number (SplitMix64).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// One of `items`.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[usize::try_from(self.below(items.len() as u64)).unwrap()]
    }

    /// Up to `count` different items, in their order.
    pub fn some<T>(&mut self, mut items: Vec<T>, count: usize) -> Vec<T> {
        while items.len() > count {
            let out = usize::try_from(self.below(items.len() as u64)).unwrap();
            items.remove(out);
        }
        items
    }
}

#[test]
fn the_sequence_follows_from_seed_and_name() {
    let draw = |seed, name| (0..4).map(|_| Random::new(seed, name).below(100)).collect::<Vec<_>>();
    assert_eq!(draw(1, "a"), draw(1, "a"));
    assert_ne!(Random::new(1, "a").next(), Random::new(2, "a").next());
    assert_ne!(Random::new(1, "a").next(), Random::new(1, "b").next());
    assert_eq!(Random::new(1, "a").some((0..100).collect(), 3).len(), 3);
    assert_eq!(Random::new(1, "a").pick(&["only"]), &"only");
}
