import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { LoggedRequest } from "../../api/fetch-requests.ts";
import { buttonClasses } from "../../design/button.tsx";
import { CodeWord } from "../../design/code-word.tsx";
import { FactList } from "../../design/fact-list.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { Notice } from "../../design/notice.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";

/** The error of a failed request as its client got it, and the way out. */
export function RequestError({ request }: { request: LoggedRequest }) {
  const { error_code: code, error_message: message, error_param: param } = request;
  if (code === null) return null;
  const facts = [
    { name: "Code", value: <CodeWord>{code}</CodeWord> },
    ...(param === null ? [] : [{ name: "Param", value: <CodeWord>{param}</CodeWord> }]),
  ];
  return (
    <section aria-label="Error" className="flex max-w-2xl flex-col gap-3">
      <Notice kind="error">
        <p className="wrap-break-word">
          <InlineCodeText text={message ?? "The message of this error was not stored."} />
        </p>
      </Notice>
      <FactList facts={facts} />
      <div className="flex flex-wrap items-center gap-3">
        {findWayOut(request)}
        <Link to="/docs/guide/$chapter" params={{ chapter: "errors" }} className={`text-sm ${linkClasses}`}>
          What this error means
        </Link>
      </div>
    </section>
  );
}

function findWayOut({ error_code: code, key_id: keyId }: LoggedRequest): ReactNode {
  if (code === "insufficient_balance") {
    return (
      <Link to="/console/billing" className={buttonClasses("primary")}>
        Add credit
      </Link>
    );
  }
  if (code !== "key_budget_exceeded") return null;
  return (
    <Link to="/console/keys" search={{ key: keyId, do: "edit" }} className={buttonClasses("primary")}>
      Raise the key's budget
    </Link>
  );
}
