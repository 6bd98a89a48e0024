import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../../api/console-api.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { Notice } from "../../design/notice.tsx";

export function RequestFailure({ error, onRetry, children }: { error: Error; onRetry?(): void; children?: ReactNode }) {
  const code = error instanceof ApiError ? error.code : "";
  const isAboutMoney = error instanceof ApiError && error.status === 402;
  return (
    <Notice kind="error" title={nameFailure(error)}>
      <p>
        <InlineCodeText text={describeFailure(error)} />
      </p>
      {children}
      <div className="-ml-2 flex flex-wrap">
        {isAboutMoney && code !== "key_budget_exceeded" && (
          <Link to="/console/billing" className={buttonClasses("quiet")}>
            Go to billing
          </Link>
        )}
        {onRetry !== undefined && (
          <Button look="quiet" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </Notice>
  );
}

function nameFailure(error: Error): string {
  const status = error instanceof ApiError ? error.status : null;
  if (status === 0) return "No connection";
  if (status === 402) return "Insufficient balance";
  if (status === 429) return "Rate limit reached";
  if (status !== null && status >= 500) return "Model unavailable";
  return "Request failed";
}

function describeFailure(error: Error): string {
  const seconds = error instanceof ApiError ? error.retryAfterSeconds : null;
  const isWorthWaiting = error instanceof ApiError && (error.status === 429 || error.status >= 500);
  if (seconds === null || !isWorthWaiting) return error.message;
  return `${error.message} Try again in ${seconds === 1 ? "a second" : `${seconds} seconds`}.`;
}

/** The API's error for a field or one nested in it (`tools[0].function.name`). */
export function findFieldError(error: Error | null, field: string): string | null {
  const param = error instanceof ApiError ? error.param : null;
  if (error === null || param === null) return null;
  return param === field || param.startsWith(`${field}[`) || param.startsWith(`${field}.`) ? error.message : null;
}
