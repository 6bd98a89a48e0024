import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { ApiError, getLastRequestId } from "../api/console-api.ts";
import { useQueryCache } from "../api/use-query-cache.ts";
import { Button, buttonClasses } from "../design/button.tsx";
import { Notice } from "../design/notice.tsx";
import { RequestId } from "../design/request-id.tsx";
import { MessageFrame } from "../parts/frame/message-frame.tsx";
import { useOnReconnected } from "../parts/frame/use-connection.ts";

/** Shown instead of a page that crashed. */
export function ErrorPage({ error }: ErrorComponentProps): ReactNode {
  const router = useRouter();
  const answers = useQueryCache();
  const retry = () => {
    answers.forgetUnused();
    void router.invalidate();
  };
  useOnReconnected(retry);
  // Messages of the server are meant for users; those of scripts are not.
  const isAnswer = error instanceof ApiError;
  const [lastRequestId] = useState(getLastRequestId);
  const requestId = isAnswer ? error.requestId : lastRequestId;
  return (
    <MessageFrame title="This page could not be shown">
      <Notice kind="error" title={isAnswer ? error.message : "Something went wrong on this page."}>
        <p>Try again. If the problem persists, send the operator the request ID.</p>
        {requestId !== null && <RequestId id={requestId} />}
      </Notice>
      <div className="flex flex-wrap gap-3">
        <Button look="primary" onClick={retry}>
          Try again
        </Button>
        <a href="/console" className={buttonClasses("plain")}>
          Back to console
        </a>
      </div>
    </MessageFrame>
  );
}
