import { CopyableText } from "./copyable-text.tsx";

/** What whoever runs the service needs to find out what went wrong. */
export function RequestId({ id }: { id: string }) {
  return (
    <p className="text-xs text-ink-soft">
      Request ID <CopyableText text={id} label="the request ID" />
    </p>
  );
}
