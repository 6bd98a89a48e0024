import { Link } from "@tanstack/react-router";
import type { LoggedRequest } from "../../api/ask-requests.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CopyableText } from "../../design/copyable-text.tsx";
import { type Fact, FactList } from "../../design/fact-list.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { formatInstant, nameWire } from "./request-words.ts";

export function RequestFacts({ request }: { request: LoggedRequest }) {
  const { time_zone: timeZone } = useSession().account;
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const { model, key_id: keyId, wire, client_request_id: clientId, user_agent: userAgent } = request;
  const facts: (Fact | false)[] = [
    { name: "Time", value: formatInstant(request.created_at, timeZone) },
    model !== null && {
      name: "Model",
      value: (
        <Link to="/console/models/$" params={{ _splat: model }} className={linkClasses}>
          {model}
        </Link>
      ),
    },
    wire !== null && { name: "API", value: nameWire(wire) },
    {
      name: "Key",
      value: (
        <Link to="/console/keys" search={{ key: keyId }} className={linkClasses}>
          {keyNames?.get(keyId) ?? keyId}
        </Link>
      ),
    },
    { name: "Request ID", value: <CopyableText text={request.id} label="request ID" /> },
    clientId !== null && { name: "Your request ID", value: <CopyableText text={clientId} label="your request ID" /> },
    userAgent !== null && { name: "User agent", value: <span className="text-xs wrap-anywhere">{userAgent}</span> },
    { name: "Replayed", value: request.replayed ? "Yes, by its Idempotency-Key" : "No" },
  ];
  return (
    <section aria-label="Details" className="flex flex-col gap-3">
      <h2 className="font-semibold">Details</h2>
      <FactList facts={facts.filter((fact) => fact !== false)} />
      <Link
        to="/console/requests"
        search={{ key: keyId, ...(model === null ? {} : { model }) }}
        className={`self-start text-sm ${linkClasses}`}
      >
        Requests with this key{model === null ? "" : " and model"}
      </Link>
    </section>
  );
}
