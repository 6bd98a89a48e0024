/** The fields of the catalog file by the list they are in. The server's checker has the last word. */
const fields: Readonly<Record<string, readonly string[]>> = {
  "": ["currency", "providers", "models", "prices", "multipliers"],
  providers: [
    ...["id", "kind", "base_url", "allow_http", "api_keys", "headers", "auth_header", "dialect", "timeouts", "region"],
    ...["native_wires", "output_cap_field", "stream_usage", "tasks_max", "tasks_per_minute", "task_limits_per"],
  ],
  models: [
    ...["id", "name", "type", "capabilities", "limits", "routes", "aliases", "plans", "policy", "description", "hold"],
    ...["provider", "upstream_model", "priority", "weight", "cost", "cost_sheet", "deprecated_at", "shutdown_date"],
    ...["context_window", "max_output_tokens", "usual_output_tokens"],
  ],
  prices: [
    ...["model", "billing_type", "unit", "price", "input_price", "output_price", "cached_input_price", "items", "plan"],
    ...["account", "capability", "effective_at", "minimum_charge", "service_tiers", "tier_scope"],
  ],
  multipliers: ["factor", "plan", "account", "type", "model", "effective_at", "ends_at"],
};

type Completion = {
  text: string;
  /** Where the cursor belongs. */
  place: number;
  /** The fields that fit, if there are several. */
  others: readonly string[];
};

/** Completes the field's name that ends at the cursor. */
export function completeWord(text: string, at: number): Completion {
  const [word = ""] = /[a-z_]*$/.exec(text.slice(0, at)) ?? [];
  const list = findList(text.slice(0, at - word.length));
  const fitting = (fields[list] ?? []).filter((name) => name.startsWith(word));
  const [first = word] = fitting;
  const shared = fitting.reduce((prefix, name) => findShared(prefix, name), first);
  const isOnly = fitting.length === 1 && text.charAt(at) !== ":";
  const ending = shared.slice(word.length) + (isOnly ? ": " : "");
  return {
    text: text.slice(0, at) + ending + text.slice(at),
    place: at + ending.length,
    others: fitting.length > 1 ? fitting : [],
  };
}

/** The list at the top of the file that a place is in; empty at the beginning of a line. */
function findList(before: string): string {
  if (before === "" || before.endsWith("\n")) return "";
  const names = [...before.matchAll(/^([a-z_]+):/gm)];
  return names.at(-1)?.[1] ?? "";
}

function findShared(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
