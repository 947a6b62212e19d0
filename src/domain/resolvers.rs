//! Many selectors resolved in one pass over the function table.

use std::collections::HashMap;

use super::function::FunctionItem;
use super::selector::{FunctionSelector, Resolution, Resolver};

/// Collects the matches of several selectors over a table that streams past in listing order.
#[derive(Debug)]
pub struct Resolvers<'selectors> {
    all: Vec<Resolver<'selectors>>,
    by_name: HashMap<&'selectors str, Vec<usize>>,
    by_offset: HashMap<u64, Vec<usize>>,
}

impl<'selectors> Resolvers<'selectors> {
    /// Starts with no match.
    pub fn new(selectors: &'selectors [FunctionSelector]) -> Self {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut by_offset: HashMap<u64, Vec<usize>> = HashMap::new();
        for (index, selector) in selectors.iter().enumerate() {
            match selector {
                FunctionSelector::Name { value } => by_name.entry(value).or_default().push(index),
                FunctionSelector::Address { offset, .. } => {
                    by_offset.entry(offset.value()).or_default().push(index);
                }
            }
        }
        Self { all: selectors.iter().map(Resolver::new).collect(), by_name, by_offset }
    }

    /// Considers the next Function of the table.
    pub fn visit(&mut self, item: &FunctionItem) {
        let named = self.by_name.get(item.name.as_str());
        let qualified = self.by_name.get(item.qualified_name.as_str());
        let qualified = qualified.filter(|_| item.qualified_name != item.name);
        let placed = self.by_offset.get(&item.entry.offset.value());
        for index in named.into_iter().chain(qualified).chain(placed).flatten() {
            self.all[*index].visit(item);
        }
    }

    /// The verdicts once the whole table was visited, in the order of the selectors.
    pub fn finish(self) -> Vec<Resolution> {
        self.all.into_iter().map(Resolver::finish).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::address::{Address, Offset};

    fn item(name: &str, qualified_name: &str, space: &str, offset: u64) -> FunctionItem {
        let entry = Address { space: space.into(), offset: Offset::new(offset, 8) };
        FunctionItem::in_memory(name, qualified_name, entry)
    }

    #[test]
    fn every_selector_gets_the_verdict_that_it_gets_alone() {
        let table = [
            item("a", "a", "ram", 0x10),
            item("f", "N::f", "ram", 0x20),
            item("f", "M::f", "ram", 0x30),
            item("N::f", "N::f", "ram", 0x40),
            item("a", "a", "other", 0x10),
            item("g", "f", "ram", 0x50),
        ];
        let name = |value: &str| FunctionSelector::Name { value: value.into() };
        let address = |space: &str, offset, digits| FunctionSelector::Address {
            space: space.into(),
            offset: Offset::new(offset, digits),
        };
        let selectors = [
            name("a"),
            name("f"),
            name("N::f"),
            name("M::f"),
            name("g"),
            name("none"),
            address("ram", 0x10, 8),
            address("other", 0x10, 8),
            address("ram", 0x10, 16),
            address("ram", 0x11, 8),
        ];
        let mut together = Resolvers::new(&selectors);
        table.iter().for_each(|item| together.visit(item));
        let alone = selectors.iter().map(|selector| {
            let mut resolver = Resolver::new(selector);
            table.iter().for_each(|item| resolver.visit(item));
            resolver.finish()
        });
        assert_eq!(together.finish(), alone.collect::<Vec<_>>());
    }
}
