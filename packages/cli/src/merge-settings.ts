import { isSettings, providerName, type Settings } from "./agent-table.ts";

type Merged = {
  settings: Settings;
  /** Settings of the user that differ, as paths such as `env.ANTHROPIC_MODEL`. */
  conflicts: readonly string[];
};

/** Adds the wanted settings to the existing ones. Only settings of an earlier setup are replaced. */
export function mergeSettings(existing: Settings, wanted: Settings, isOurs: boolean): Merged {
  const conflicts: string[] = [];
  const settings = merge(existing, wanted, { path: [], isOurs, conflicts });
  return { settings, conflicts };
}

type Place = { path: readonly string[]; isOurs: boolean; conflicts: string[] };

function merge(existing: Settings, wanted: Settings, { path, isOurs, conflicts }: Place): Settings {
  const merged: Settings = { ...existing };
  for (const [name, value] of Object.entries(wanted)) {
    const known = existing[name];
    const at = [...path, name];
    // An entry with our name is ours.
    const isOwn = isOurs || name === providerName;
    if (isSettings(value) && (known === undefined || isSettings(known))) {
      merged[name] = merge(known ?? {}, value, { path: at, isOurs: isOwn, conflicts });
    } else if (known === undefined || known === value || isOwn || name === "$schema") {
      merged[name] = name === "$schema" ? (known ?? value) : value;
    } else conflicts.push(at.join("."));
  }
  return merged;
}
