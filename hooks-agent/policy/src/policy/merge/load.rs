//! Loads the files of all layers.

use std::collections::HashMap;

use hooks_agent_core::hook::priority;
use hooks_agent_core::options::{Mistake, Prepared, list_of};
use hooks_agent_core::text::misspelt;
use sha2::{Digest, Sha256};

use crate::policy::error::{Place, PolicyError};
use crate::policy::file::{Document, HookTable, Problems, Read, Source};
use crate::policy::merge::commands::{CommandSetup, MadeCommands};
use crate::policy::merge::made::{MadeHook, Placement};
use crate::policy::merge::merged::{Merged, MergedFile, MergedHook, MergedLimits, OptionsDigest};
use crate::policy::merge::order::{in_order, report_order};
use crate::policy::merge::quotas::quotas_of;
use crate::policy::merge::rules::rules_of;
use crate::policy::merge::said::File;
use crate::policy::registry::{InCode, Registry, feature_of};

/// What is loaded, and how.
pub(crate) struct Load<'a> {
    /// The files, highest layer first, with what they had.
    pub(crate) files: &'a [(Source, Read)],
    pub(crate) registry: &'a Registry,
    /// The hooks of the last policy: those that stay the same go on.
    pub(crate) last: &'a [MadeHook],
    pub(crate) commands: &'a CommandSetup,
    pub(crate) last_commands: Option<&'a MadeCommands>,
    /// Whether all but the managed files are in shadow.
    pub(crate) shadows: bool,
    /// Whether hooks that open files are made too.
    pub(crate) opens_files: bool,
}

/// The files as one policy.
pub(crate) struct Loaded {
    pub(crate) merged: Merged,
    /// The enabled hooks, highest layer first.
    pub(crate) hooks: Vec<MadeHook>,
    pub(crate) commands: MadeCommands,
}

/// An entry of a file whose options were read.
pub(super) struct Entry {
    pub(super) file: usize,
    pub(super) table: HookTable,
    digest: OptionsDigest,
    prepared: Option<Prepared>,
    opens_files_at: Option<i32>,
    made: Option<MadeHook>,
}

impl Load<'_> {
    /// Loads the files.
    pub(crate) fn run(&self) -> Result<Loaded, Vec<PolicyError>> {
        let (documents, mut errors) = self.documents();
        let mut files: Vec<_> = documents.iter().map(|it| File::read(it, self.shadows)).collect();
        let mut entries = self.entries(&mut files);
        report_names(&entries, &mut files);
        report_counters(&entries, &mut files);
        let commands = self.commands.make(&mut files, self.last_commands, &mut errors);
        for entry in entries.iter_mut().filter(|entry| entry.opens_files_at.is_none()) {
            self.make(entry, &mut files);
        }
        report_order(&entries, &mut files);
        if self.opens_files && errors.is_empty() && files.iter().all(|it| it.problems.is_empty()) {
            for entry in &mut entries {
                self.make(entry, &mut files);
            }
        }
        let merged = self.merged(&files, &entries);
        errors.extend(files.into_iter().flat_map(|file| file.problems.into_errors()));
        if !errors.is_empty() {
            return Err(errors);
        }
        let enabled = entries.into_iter().filter(|entry| entry.table.is_enabled);
        let hooks = enabled.filter_map(|entry| entry.made).collect();
        Ok(Loaded { merged, hooks, commands })
    }

    /// Returns the texts, and why others cannot be read.
    fn documents(&self) -> (Vec<Document>, Vec<PolicyError>) {
        let (mut documents, mut errors) = (Vec::new(), Vec::new());
        for (index, (source, read)) in self.files.iter().enumerate() {
            let before = self.files[..index].iter().filter(|(it, _)| it.layer == source.layer);
            let number = before.count() + 1;
            match read {
                Read::Bytes(bytes, beside) => {
                    match Document::new(source, bytes, number, beside.clone()) {
                        Ok(document) => documents.push(document),
                        Err(error) => errors.push(error),
                    }
                }
                Read::Missing => {}
                Read::Failed(why) => {
                    errors.push(PolicyError::without_place(format!("{}: {why}", source.name())));
                }
            }
        }
        (documents, errors)
    }

    /// Reads the options of all hooks.
    fn entries(&self, files: &mut [File<'_>]) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (index, file) in files.iter_mut().enumerate() {
            for mut table in std::mem::take(&mut file.content.hooks) {
                table.is_shadow |= file.is_shadow;
                let prepared = self.prepare(&table, &mut file.problems);
                let mut digest = Sha256::new();
                digest.update((table.uses.len() as u64).to_le_bytes());
                digest.update(table.uses.as_bytes());
                table.options.digest(&mut digest);
                entries.push(Entry {
                    file: index,
                    table,
                    digest: OptionsDigest(digest.finalize().into()),
                    opens_files_at: prepared.as_ref().and_then(|it| it.opens_files_at),
                    prepared,
                    made: None,
                });
            }
        }
        entries
    }

    fn prepare(&self, table: &HookTable, problems: &mut Problems<'_>) -> Option<Prepared> {
        let array = HookTable::array_of(&table.uses);
        if let Some(array) = array.filter(|_| !table.is_of_file()) {
            let message =
                format!("{} are no `[[hook]]`: write each as a `[[{array}]]`", table.uses);
            problems.add(table.starts.uses, format!("{}.use", table.path), message);
            return None;
        }
        let Some(factory) = self.registry.get(&table.uses) else {
            let message = unknown_hook(&table.uses, self.registry);
            let of_file = array.map(str::to_owned);
            let key = of_file.unwrap_or_else(|| format!("{}.use", table.path));
            problems.add(table.starts.uses, key, message);
            return None;
        };
        match factory.prepare(&table.options) {
            Ok(prepared) => Some(prepared),
            Err(mistakes) => {
                for mistake in mistakes {
                    report(&mistake, table, problems);
                }
                None
            }
        }
    }

    /// Makes the hook of an entry, or takes the one that the last policy made of the same options.
    fn make(&self, entry: &mut Entry, files: &mut [File<'_>]) {
        let Entry { table, digest, .. } = entry;
        let Some(prepared) = entry.prepared.take() else { return };
        let HookTable { priority, is_parallel, inherits, is_shadow, .. } = *table;
        let order = table.order.clone();
        let placed = Placement { priority, order, is_parallel, inherits, is_shadow };
        let place = files[entry.file].document.place(table.starts.table);
        let kept = self.last.iter().find(|made| made.is(&table.name, *digest, is_shadow));
        let made = match kept {
            Some(kept) => Ok(kept.moved(placed, table.agents.clone(), &place)),
            // A file that a disabled hook opens stays closed.
            None if !table.is_enabled && entry.opens_files_at.is_some() => return,
            None => prepared.make(&table.options).map(|hook| {
                let (name, agents) = (table.name.clone(), table.agents.clone());
                MadeHook::new(name, *digest, hook, placed, agents, &place)
            }),
        };
        match made {
            Ok(made) if made.cannot_be_parallel() => {
                let message =
                    format!("`{}` runs around calls, so it cannot run in parallel", table.uses);
                let path = format!("{}.parallel", table.path);
                files[entry.file].problems.add(table.starts.table, path, message);
            }
            Ok(made) => match made.not_in_shadow() {
                None => entry.made = Some(made),
                Some(why) => {
                    let path = format!("{}.mode", table.path).trim_start_matches('.').to_owned();
                    let message = format!("`{}` cannot run in shadow: {why}", table.uses);
                    files[entry.file].problems.add(table.starts.table, path, message);
                }
            },
            Err(mistakes) => {
                for mistake in mistakes {
                    report(&mistake, table, &mut files[entry.file].problems);
                }
            }
        }
    }

    fn merged(&self, files: &[File<'_>], entries: &[Entry]) -> Merged {
        let merged_files = self.files.iter().map(|(source, read)| MergedFile {
            name: source.name().clone(),
            layer: source.layer,
            is_there: !matches!(read, Read::Missing),
        });
        let mut hooks: Vec<_> =
            entries.iter().map(|entry| entry.merged(&files[entry.file])).collect();
        hooks.sort_by_key(|hook| hook.priority);
        let hooks = in_order(hooks);
        let of = |uses| entries.iter().filter(move |entry| entry.table.is_of_file_for(uses));
        let of_rules = of(HookTable::RULES);
        let of_rules = of_rules.map(|entry| rules_of(&entry.table, &files[entry.file]));
        let (rules, defaults): (Vec<_>, Vec<_>) = of_rules.unzip();
        let (rules, defaults) = (rules.concat(), defaults.into_iter().flatten().collect());
        let quotas = of(HookTable::QUOTAS);
        let quotas = quotas.flat_map(|entry| quotas_of(&entry.table, &files[entry.file]));
        Merged {
            files: merged_files.collect(),
            on_failure: files.iter().find_map(File::on_failure),
            hooks,
            commands: files.iter().flat_map(File::merged_commands).collect(),
            rules,
            defaults,
            quotas: quotas.collect(),
            limits: limits_of(files, false),
            shadow_limits: limits_of(files, true),
        }
    }
}

/// Returns the limits of the files that are in shadow, or of those that are not.
fn limits_of(files: &[File<'_>], in_shadow: bool) -> MergedLimits {
    let files = || files.iter().filter(|file| file.is_shadow == in_shadow);
    let limits = files().filter_map(|file| {
        let (most, at) = file.content.limits.max_iters?;
        Some((most, file.origin(at)))
    });
    let denied = files().flat_map(|file| {
        let tools = file.content.limits.deny_tools.iter();
        tools.map(|(tool, at)| (tool.clone(), file.origin(*at)))
    });
    // Of equal limits, the one of the highest layer.
    let max_iters = limits.min_by_key(|(most, _)| *most);
    MergedLimits { max_iters, deny_tools: denied.collect() }
}

/// Returns why a file may not use a hook of this name.
fn unknown_hook(uses: &str, registry: &Registry) -> String {
    if registry.names().next().is_none() {
        let cure =
            "the built-in ones are in `hooks-agent`: depend on it, and name it in the program";
        return format!("the program has no hooks for files, so none is called `{uses}`; {cure}");
    }
    if let Some(feature) = feature_of(uses) {
        return format!("`{uses}` needs the feature `{feature}` of hooks-agent");
    }
    // A name that is as near to one that files may use was probably that one.
    let is_near = misspelt(uses, registry.names()).is_some();
    match InCode::of(uses).filter(|hook| hook.name == uses || !is_near) {
        Some(hook) => hook.to_string(),
        None => list_of("hook", Some(uses), registry.names()),
    }
}

/// Reports names that are used twice.
fn report_names(entries: &[Entry], files: &mut [File<'_>]) {
    let mut names: HashMap<&str, (usize, Place)> = HashMap::new();
    for Entry { file, table, .. } in entries {
        let (at, name) = (table.starts.name, table.name.as_str());
        let Some((first, place)) = names.get(name) else {
            names.insert(name, (*file, files[*file].document.place(at)));
            continue;
        };
        let (layer, own) = (files[*first].document.layer, files[*file].document.layer);
        let message = if layer == own {
            format!("the name `{name}` is taken by the hook at {place}; expected another `name`")
        } else {
            let verb = if table.is_enabled { "redefine" } else { "disable" };
            format!(
                "the layer {own} cannot {verb} `{name}`, a hook of the layer {layer} at {place}; \
                 expected another `name`"
            )
        };
        files[*file].problems.add(at, format!("{}.name", table.path), message);
    }
}

/// Reports counts that two entries would share.
fn report_counters(entries: &[Entry], files: &mut [File<'_>]) {
    let mut counters: HashMap<&str, Place> = HashMap::new();
    for Entry { file, table, prepared, .. } in entries {
        let counter = prepared.as_ref().and_then(|prepared| prepared.counter.as_deref());
        let Some(counter) = counter.filter(|_| table.is_enabled) else { continue };
        let at = table.starts.table;
        let Some(place) = counters.get(counter) else {
            counters.insert(counter, files[*file].document.place(at));
            continue;
        };
        let message = format!(
            "the hook at {place} counts in `{counter}` too; write another \
             `counter = \"NAME\"` in `with`"
        );
        files[*file].problems.add(at, format!("{}.with", table.path), message);
    }
}

fn report(mistake: &Mistake, table: &HookTable, problems: &mut Problems<'_>) {
    let offset = mistake.offset.unwrap_or(table.starts.table);
    let message = mistake.message(table.options.has_secret());
    problems.add(offset, table.path_of(|with| mistake.path(with)), message);
}

impl Entry {
    /// Returns the priority: lower runs first.
    pub(super) fn priority(&self) -> i32 {
        let own = self.made.as_ref().map(MadeHook::priority).or(self.opens_files_at);
        self.table.priority.or(own).unwrap_or(priority::DEFAULT)
    }

    fn merged(&self, file: &File<'_>) -> MergedHook {
        let table = &self.table;
        MergedHook {
            name: table.name.clone(),
            uses: table.uses.clone(),
            agents: table.agents.texts().to_vec(),
            priority: self.priority(),
            order: table.order.clone(),
            is_parallel: table.is_parallel,
            inherits: table.inherits,
            is_enabled: table.is_enabled,
            is_shadow: table.is_shadow,
            // Rules and quotas are shown one by one.
            options: if table.is_of_file() { "{}".to_owned() } else { table.options.to_string() },
            origin: file.origin(table.starts.table),
            digest: self.digest,
        }
    }
}
