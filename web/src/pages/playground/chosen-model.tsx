import type { Model } from "../../api/fetch-catalog.ts";
import { Badge } from "../../design/badge.tsx";
import { describeModelStatus, nameType } from "../../parts/format/model-labels.ts";
import { ModelLogo } from "../../parts/records/model-logo.tsx";

export const pickerClasses =
  "flex min-h-14 w-full min-w-0 items-center gap-3 rounded-md border border-line-strong bg-surface px-3 py-1.5 text-left";

/** The chosen model with its price, as the closed picker shows it. */
export function ChosenModel({ model, price }: { model: Model; price: string }) {
  return (
    <>
      <ModelLogo model={model} className="size-8" />
      <span className="flex min-w-0 flex-col">
        <span className="truncate font-medium">{model.name}</span>
        <span className="truncate text-xs text-ink-soft tabular-nums">
          {[nameType(model.type), price].filter((part) => part !== "").join(" · ")}
        </span>
      </span>
      <ModelStatus model={model} />
    </>
  );
}

export function ModelStatus({ model: { status } }: { model: Model }) {
  if (status === "available") return null;
  const { kind, name } = describeModelStatus(status);
  return <Badge kind={kind}>{name}</Badge>;
}
