import { CopyableText } from "./copyable-text.tsx";

/** The operator finds the request in the log by this id. */
export function RequestId({ id }: { id: string }) {
  return (
    <p className="text-xs text-ink-soft">
      Request ID <CopyableText text={id} label="request ID" />
    </p>
  );
}
