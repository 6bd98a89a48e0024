import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ApiKey } from "../../api/fetch-keys.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { KeyBudget } from "./key-budget.tsx";
import { describeDays, describeKeyStatus, listLimits, nameEndpoint, toMoment } from "./key-labels.ts";

const explanations: Readonly<Record<ApiKey["kind"], string | null>> = {
  secret: null,
  client: "Issued to a program that you connected in the browser. Connecting it again issues a new key.",
  console:
    "Authenticates your calls from this console. Its secret is never shown, so you cannot rotate or revoke it. You can set a budget and limits.",
};

export function KeyFacts({ apiKey, timeZone }: { apiKey: ApiKey; timeZone: string }) {
  const { kind, name } = describeKeyStatus(apiKey, new Date());
  const explanation = explanations[apiKey.kind];
  const formatOr = (moment: string | null, nothing: string) =>
    moment === null ? nothing : formatMoment(moment, timeZone);
  const { models, endpoints, addresses, revoked_at: revokedAt, last_used: lastUsed } = apiKey;
  const limits = listLimits(apiKey.limits);
  return (
    <>
      {explanation !== null && <p className="text-sm text-ink-soft">{explanation}</p>}
      <dl className="divide-y divide-line border-y border-line text-sm">
        <Fact name="Status">
          <Badge kind={kind}>{name}</Badge>
        </Fact>
        {apiKey.preview !== null && (
          <Fact name="Key">
            <code className="font-mono text-xs">{apiKey.preview}</code>
          </Fact>
        )}
        <Fact name="ID">
          <CopyableText text={apiKey.id} label="key ID" />
        </Fact>
        <Fact name="Created">{formatMoment(toMoment(apiKey.created), timeZone)}</Fact>
        <Fact name="Last used">{formatOr(lastUsed === null ? null : toMoment(lastUsed), "Never")}</Fact>
        <Fact name="Expires">{formatOr(apiKey.expires_at, "Never")}</Fact>
        {revokedAt !== null && <Fact name="Revoked">{formatMoment(revokedAt, timeZone)}</Fact>}
        <Fact name="Budget">
          <KeyBudget apiKey={apiKey} />
        </Fact>
        <Fact name="Models">{models?.join(", ") ?? "All"}</Fact>
        <Fact name="Endpoints">{endpoints?.map(nameEndpoint).join(", ") ?? "All"}</Fact>
        <Fact name="Addresses">{addresses?.join(", ") ?? "Any"}</Fact>
        <Fact name="Limits">{limits.length === 0 ? "Account limits" : limits.join(" · ")}</Fact>
        <Fact name="Content log">
          <ContentLog apiKey={apiKey} />
        </Fact>
      </dl>
    </>
  );
}

function ContentLog({ apiKey: { id, content_log: isOn } }: { apiKey: ApiKey }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  if (!isOn) return "Off";
  if (site?.content_log_days === 0) return "Off: this service stores no contents";
  return (
    <>
      On: requests and responses are stored{site === undefined ? "" : ` for ${describeDays(site.content_log_days)}`}.{" "}
      <Link to="/console/requests" search={{ key: id }} className={linkClasses}>
        See its requests
      </Link>
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
