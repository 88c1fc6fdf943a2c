//! Clusters of matches that overlap, each with one replacement.

use std::ops::Range;

/// Matches that overlap, directly or through others. One replacement, that of the longest match, stands
/// for the whole range; if any member blocks, the cluster blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PiiCluster {
    /// From the start of the first match to the end of the last.
    pub(crate) range: Range<usize>,
    /// The index of the longest match. Of several, that of the lowest rank, then the first in the text.
    pub(crate) longest: usize,
    /// The indices of the matches, sorted by start.
    pub(crate) members: Vec<usize>,
}

/// Groups matches into maximal chains of overlapping ones, sorted by start. Matches that only touch do
/// not overlap. A match is its rank, such as the order of registration of its detector, and its range.
pub(crate) fn pii_clusters(found: &[(usize, Range<usize>)]) -> Vec<PiiCluster> {
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
pub(crate) fn settled_clusters(found: &[(usize, Range<usize>)], settled: usize) -> usize {
    let clusters = pii_clusters(found);
    let inside = |range: &Range<usize>| range.start < settled && settled < range.end;
    let cluster = clusters.iter().find(|cluster| inside(&cluster.range));
    cluster.map_or(settled, |cluster| cluster.range.start)
}

#[cfg(test)]
mod tests {
    use crate::guard::pii::overlap::{pii_clusters, settled_clusters};

    #[test]
    fn a_chain_of_matches_is_one_cluster_of_its_longest() {
        let clusters = pii_clusters(&[(0, 8..12), (1, 0..5), (2, 4..9), (3, 12..14)]);
        assert_eq!(clusters.len(), 2);
        assert_eq!((&clusters[0].range, clusters[0].longest), (&(0..12), 1));
        assert_eq!(clusters[0].members, [1, 2, 0]);
        assert_eq!((&clusters[1].range, clusters[1].longest), (&(12..14), 3));
    }

    #[test]
    fn of_matches_of_the_same_length_the_first_registered_replaces() {
        let clusters = pii_clusters(&[(7, 0..5), (2, 1..6), (3, 0..5)]);
        assert_eq!((clusters.len(), clusters[0].longest), (1, 1));
        let same = pii_clusters(&[(1, 4..8), (1, 2..6)]);
        assert_eq!(same[0].longest, 1);
    }

    #[test]
    fn no_matches_have_no_clusters() {
        assert!(pii_clusters(&[]).is_empty());
        assert_eq!(settled_clusters(&[], 7), 7);
    }

    #[test]
    fn a_cluster_is_settled_as_a_whole() {
        let found = [(0, 0..5), (1, 4..9), (2, 9..12)];
        assert_eq!(settled_clusters(&found, 5), 0);
        assert_eq!(settled_clusters(&found, 9), 9);
        assert_eq!(settled_clusters(&found, 10), 9);
    }
}
