const looks: Readonly<Record<string, string>> = {
  GET: "text-code-name",
  POST: "text-success",
  PATCH: "text-warning",
  DELETE: "text-danger",
};

const shorts: Readonly<Record<string, string>> = { DELETE: "DEL" };

/** The HTTP method, abbreviated, in its colour. */
export function MethodLabel({ method, isWhole = false }: { method: string; isWhole?: boolean }) {
  return (
    <span className={`shrink-0 font-mono text-[0.6875rem] font-medium ${looks[method] ?? "text-ink-soft"}`}>
      {isWhole ? method : (shorts[method] ?? method)}
    </span>
  );
}
