import { Button } from "./button.tsx";
import { InlineCodeText } from "./inline-code-text.tsx";
import { Notice } from "./notice.tsx";
import { RequestId } from "./request-id.tsx";

type LoadFailureProps = {
  title?: string;
  /** With the id of the failed request, if any. */
  error: Error & { requestId?: string | null };
  onRetry(): void;
};

/** Shown instead of data that failed to load, with a retry button. */
export function LoadFailure({ title = "Could not load this.", error, onRetry }: LoadFailureProps) {
  return (
    <Notice kind="error" title={title}>
      <p>
        <InlineCodeText text={error.message} />
      </p>
      {error.requestId != null && <RequestId id={error.requestId} />}
      <Button look="quiet" className="-ml-2" onClick={onRetry}>
        Try again
      </Button>
    </Notice>
  );
}
