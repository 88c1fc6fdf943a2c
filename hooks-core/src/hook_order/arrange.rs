//! Puts hooks in the order that they ask for.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::hook_order::fault::OrderFault;
use crate::hook_order::order::HookOrder;
use crate::hook_order::relation::Relation;

/// Returns the order in which hooks run, as indices. They come in the order in which they would run if they asked for
/// nothing, each with its name. A hook that asks for a place goes there, as near to its own as that is; the others stay.
/// Names that none of them has are passed over.
///
/// # Errors
/// [`OrderFault::Circle`].
///
/// ```
/// use hooks_core::options::{HookOrder, arrange};
///
/// let early = HookOrder::new().before("redact");
/// let order = arrange(&[("log", None), ("redact", None), ("trim", Some(&early))])?;
/// assert_eq!(order, [0, 2, 1]);
/// # Ok::<(), hooks_core::OrderFault>(())
/// ```
pub fn arrange(hooks: &[(&str, Option<&HookOrder>)]) -> Result<Vec<usize>, OrderFault> {
    let relations = Relations::of(hooks);
    let settled = relations.sorted(|index| index);
    if settled.len() < hooks.len() {
        return Err(relations.circle(hooks, &settled));
    }
    let mut places: Vec<usize> = (0..hooks.len()).collect();
    for &index in settled.iter().rev() {
        let wanted = relations.asked(index, Relation::Before).map(|other| places[other]).min();
        places[index] = wanted.map_or(places[index], |wanted| wanted.min(places[index]));
    }
    for &index in &settled {
        let wanted = relations.asked(index, Relation::After).map(|other| places[other]).max();
        places[index] = wanted.map_or(places[index], |wanted| wanted.max(places[index]));
    }
    Ok(relations.sorted(|index| places[index]))
}

/// Which hooks run before which.
struct Relations {
    /// For each hook, what it asks for: the other one, and how it is to stand to it.
    asked: Vec<Vec<(Relation, usize)>>,
    /// For each hook, those that run later.
    later: Vec<Vec<usize>>,
}

impl Relations {
    fn of(hooks: &[(&str, Option<&HookOrder>)]) -> Self {
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, (name, _)) in hooks.iter().enumerate() {
            named.entry(name).or_default().push(index);
        }
        let none = || vec![Vec::new(); hooks.len()];
        let mut relations = Self { asked: vec![Vec::new(); hooks.len()], later: none() };
        for (index, (_, order)) in hooks.iter().enumerate() {
            let asked = order.iter().flat_map(|order| order.relations());
            for (relation, name) in asked {
                for &other in named.get(name).into_iter().flatten() {
                    relations.asked[index].push((relation, other));
                    match relation {
                        Relation::Before => relations.later[index].push(other),
                        Relation::After => relations.later[other].push(index),
                        Relation::Requires => {}
                    }
                }
            }
        }
        // What asks for no place is not moved: what runs before it goes on to.
        let still: Vec<_> = (0..hooks.len()).filter(|index| !relations.moves(*index)).collect();
        for pair in still.windows(2) {
            relations.later[pair[0]].push(pair[1]);
        }
        relations
    }

    /// Whether a hook asks for a place.
    fn moves(&self, index: usize) -> bool {
        self.asked[index].iter().any(|(relation, _)| *relation != Relation::Requires)
    }

    fn asked(&self, index: usize, wanted: Relation) -> impl Iterator<Item = usize> {
        let asked = self.asked[index].iter();
        asked.filter(move |(relation, _)| *relation == wanted).map(|(_, other)| *other)
    }

    /// The hooks such that each stands where it is to, else by place; without those in a circle, and behind one.
    fn sorted(&self, place: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut earlier = vec![0_usize; self.later.len()];
        for &other in self.later.iter().flatten() {
            earlier[other] += 1;
        }
        let entry = |index: usize| Reverse((place(index), index));
        let free = (0..earlier.len()).filter(|index| earlier[*index] == 0);
        let mut free: BinaryHeap<_> = free.map(entry).collect();
        let mut sorted = Vec::with_capacity(earlier.len());
        while let Some(Reverse((_, index))) = free.pop() {
            sorted.push(index);
            for &other in &self.later[index] {
                earlier[other] -= 1;
                if earlier[other] == 0 {
                    free.push(entry(other));
                }
            }
        }
        sorted
    }

    /// Names a circle among the hooks that could not be sorted.
    fn circle(&self, hooks: &[(&str, Option<&HookOrder>)], sorted: &[usize]) -> OrderFault {
        let mut is_left = vec![true; hooks.len()];
        for &index in sorted {
            is_left[index] = false;
        }
        // Each that is left has an earlier one that is left.
        let mut earlier = vec![None; hooks.len()];
        for index in (0..hooks.len()).filter(|index| is_left[*index]) {
            for &other in &self.later[index] {
                earlier[other].get_or_insert(index);
            }
        }
        let mut place = vec![None; hooks.len()];
        let mut way = Vec::new();
        let mut at = is_left.iter().position(|is_left| *is_left);
        while let Some(index) = at {
            if let Some(start) = place[index] {
                way.drain(..start);
                break;
            }
            place[index] = Some(way.len());
            way.push(index);
            at = earlier[index];
        }
        way.reverse();
        let first = (0..way.len()).min_by_key(|at| way[*at]);
        way.rotate_left(first.unwrap_or(0));
        // Of those between that ask for nothing, the first and the last say enough.
        let count = way.len();
        let is_shown = |at: &usize| {
            let next = [*at, (*at + 1) % count, (*at + count - 1) % count];
            next.iter().any(|at| self.moves(way[*at]))
        };
        let shown = (0..count).filter(is_shown).map(|at| hooks[way[at]].0.to_owned());
        OrderFault::circle(shown.collect())
    }
}
