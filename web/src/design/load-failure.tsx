import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";
import { RequestId } from "./request-id.tsx";

type LoadFailureProps = {
  title?: string;
  /** With the id of the request that failed, where there was one. */
  error: Error & { requestId?: string | null };
  onRetry(): void;
};

/** In the place of what did not come: why, and another try. */
export function LoadFailure({ title = "This cannot be shown.", error, onRetry }: LoadFailureProps) {
  return (
    <Notice kind="error" title={title}>
      <p>{error.message}</p>
      {error.requestId != null && <RequestId id={error.requestId} />}
      <Button look="quiet" className="-ml-2" onClick={onRetry}>
        Try again
      </Button>
    </Notice>
  );
}
