import { Link } from "@tanstack/react-router";
import type { LoggedRequest } from "../../api/ask-requests.ts";
import { buttonClasses } from "../../design/button.tsx";
import { type Fact, FactList } from "../../design/fact-list.tsx";
import { Section } from "../../design/section.tsx";
import { formatCount, formatMoney } from "../../parts/format/format-money.ts";

type Tokens = NonNullable<LoggedRequest["tokens"]>;

const tokenNames: readonly { name: string; field: keyof Tokens; isPart: boolean }[] = [
  { name: "Input tokens", field: "input", isPart: false },
  { name: "Read from cache", field: "cached_input", isPart: true },
  { name: "Written to cache", field: "cache_writes", isPart: true },
  { name: "Audio", field: "audio_input", isPart: true },
  { name: "Output tokens", field: "output", isPart: false },
  { name: "Reasoning", field: "reasoning", isPart: true },
  { name: "Audio", field: "audio_output", isPart: true },
];

export function RequestCost({ request, currency }: { request: LoggedRequest; currency: string }) {
  const { tokens, charge, charge_id: chargeId, task_id: taskId } = request;
  const facts = [
    ...(tokens === null ? [] : listTokens(tokens)),
    { name: "Cost", value: describeCost(request, currency) },
  ];
  return (
    <Section
      title="Tokens and cost"
      actions={
        <>
          {chargeId !== null && (
            <Link to="/console/usage/charges/$id" params={{ id: chargeId }} className={buttonClasses("plain")}>
              Open charge
            </Link>
          )}
          {taskId !== null && (
            <Link to="/console/tasks/$id" params={{ id: taskId }} className={buttonClasses("plain")}>
              Open task
            </Link>
          )}
        </>
      }
    >
      <FactList facts={facts} />
      {charge === null && taskId !== null && <p className="text-sm text-ink-soft">A task is charged when it ends.</p>}
    </Section>
  );
}

/** Parts of input and output, listed below them if present. */
function listTokens(tokens: Tokens): Fact[] {
  return tokenNames.flatMap(({ name, field, isPart }) => {
    const count = tokens[field];
    if (isPart && count === 0) return [];
    return [{ id: field, name: isPart ? `of which ${name.toLowerCase()}` : name, value: formatCount(count) }];
  });
}

function describeCost({ charge, replayed }: LoggedRequest, currency: string) {
  if (charge !== null) return <span className="font-semibold">{formatMoney(charge, currency)}</span>;
  return replayed ? "Nothing: an earlier response was replayed" : "Nothing was charged";
}
