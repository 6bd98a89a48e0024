import type { ReactNode } from "react";
import type { ApiKey } from "../../api/ask-keys.ts";
import { Badge } from "../../design/badge.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { formatMoment } from "../../parts/format-time.ts";
import { KeyBudget } from "./key-budget.tsx";
import { describeKeyState, listLimits, nameEndpoint, toMoment } from "./key-words.ts";

const explanations: Readonly<Record<ApiKey["kind"], string | null>> = {
  secret: null,
  client:
    "A program was given this key when you connected it through the browser. Connecting it again gives it a new one.",
  console:
    "It stands for what you do in this console, such as calls from the playground. Nobody knows its text, so it needs no rotation and cannot be revoked; a budget and limits can hold it.",
};

/** Everything that is known of a key, except the key. */
export function KeyFacts({ apiKey, timeZone }: { apiKey: ApiKey; timeZone: string }) {
  const { kind, name } = describeKeyState(apiKey, new Date());
  const explanation = explanations[apiKey.kind];
  const tell = (moment: string | null, nothing: string) => (moment === null ? nothing : formatMoment(moment, timeZone));
  const { models, endpoints, addresses, revoked_at: revokedAt, last_used: lastUsed } = apiKey;
  const limits = listLimits(apiKey.limits);
  return (
    <>
      {explanation !== null && <p className="text-sm text-ink-soft">{explanation}</p>}
      <dl className="divide-y divide-line border-y border-line text-sm">
        <Fact name="State">
          <Badge kind={kind}>{name}</Badge>
        </Fact>
        {apiKey.preview !== null && (
          <Fact name="Key">
            <code className="font-mono text-xs">{apiKey.preview}</code>
          </Fact>
        )}
        <Fact name="Id">
          <CopyableText text={apiKey.id} label="the key’s id" />
        </Fact>
        <Fact name="Created">{formatMoment(toMoment(apiKey.created), timeZone)}</Fact>
        <Fact name="Last used">{tell(lastUsed === null ? null : toMoment(lastUsed), "Never")}</Fact>
        <Fact name="Expires">{tell(apiKey.expires_at, "Never")}</Fact>
        {revokedAt !== null && <Fact name="Revoked">{formatMoment(revokedAt, timeZone)}</Fact>}
        <Fact name="Budget">
          <KeyBudget apiKey={apiKey} />
        </Fact>
        <Fact name="Models">{models?.join(", ") ?? "All"}</Fact>
        <Fact name="Endpoints">{endpoints?.map(nameEndpoint).join(", ") ?? "All"}</Fact>
        <Fact name="Addresses">{addresses?.join(", ") ?? "Everywhere"}</Fact>
        <Fact name="Limits">{limits.length === 0 ? "Those of the account" : limits.join(" · ")}</Fact>
      </dl>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[7rem_minmax(0,1fr)] gap-3 py-2.5">
      <dt className="text-ink-soft">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
