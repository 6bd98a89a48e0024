import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";

type LoadFailureProps = { title?: string; error: Error; onRetry(): void };

/** In the place of what did not come: why, and another try. */
export function LoadFailure({ title = "This cannot be shown.", error, onRetry }: LoadFailureProps) {
  return (
    <Notice kind="error" title={title}>
      <p>{error.message}</p>
      <Button look="quiet" className="-ml-2" onClick={onRetry}>
        Try again
      </Button>
    </Notice>
  );
}
