//! What replaces matches that overlap.

use std::ops::Range;

/// Matches that overlap, directly or through others. One replacement, that of the longest match, stands
/// for the whole range; if any member blocks, the cluster blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PiiCluster {
    /// From the start of the first match to the end of the last.
    pub range: Range<usize>,
    /// The index of the longest match. Of several, that of the lowest rank, then the first in the text.
    pub longest: usize,
    /// The indices of the matches, sorted by start.
    pub members: Vec<usize>,
}

/// Groups matches into maximal chains of overlapping ones, sorted by start. Matches that only touch do
/// not overlap. A match is its rank, such as the order of registration of its detector, and its range.
///
/// ```
/// use hooks_agent::builtin::pii_clusters;
///
/// // An e-mail address, a URL that goes on behind it, and an IP address elsewhere.
/// let clusters = pii_clusters(&[(0, 4..20), (1, 10..35), (2, 40..48)]);
/// assert_eq!((clusters[0].range.clone(), clusters[0].longest), (4..35, 1));
/// assert_eq!((clusters[1].range.clone(), clusters[1].longest), (40..48, 2));
/// ```
#[must_use]
pub fn pii_clusters(found: &[(usize, Range<usize>)]) -> Vec<PiiCluster> {
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|index| found[*index].1.start);
    let mut clusters: Vec<PiiCluster> = Vec::new();
    for index in order {
        let (rank, range) = &found[index];
        match clusters.last_mut().filter(|cluster| range.start < cluster.range.end) {
            Some(cluster) => {
                cluster.range.end = cluster.range.end.max(range.end);
                cluster.members.push(index);
                let longest = &found[cluster.longest];
                let by_length = range.len().cmp(&longest.1.len());
                if by_length.then(longest.0.cmp(rank)).is_gt() {
                    cluster.longest = index;
                }
            }
            None => clusters.push(PiiCluster {
                range: range.clone(),
                longest: index,
                members: vec![index],
            }),
        }
    }
    clusters
}

/// Returns the start of the cluster that `settled` is inside of, or `settled`: up to there, more text
/// changes no cluster. The matches are those of all detectors; `settled` is the least of theirs.
///
/// ```
/// use hooks_agent::builtin::settled_clusters;
///
/// assert_eq!(settled_clusters(&[(0, 4..20), (1, 10..35)], 15), 4);
/// assert_eq!(settled_clusters(&[(0, 4..20), (1, 10..35)], 35), 35);
/// ```
#[must_use]
pub fn settled_clusters(found: &[(usize, Range<usize>)], settled: usize) -> usize {
    let clusters = pii_clusters(found);
    let inside = |range: &Range<usize>| range.start < settled && settled < range.end;
    let cluster = clusters.iter().find(|cluster| inside(&cluster.range));
    cluster.map_or(settled, |cluster| cluster.range.start)
}
