import { Link } from "@tanstack/react-router";
import type { Model } from "../../api/ask-catalog.ts";
import { nameCapability } from "../../parts/format/model-words.ts";

/** The picker shows the price. */
export function ModelSummary({ model }: { model: Model }) {
  return (
    <div className="flex min-h-11 flex-col gap-1 text-sm text-ink-soft lg:pt-7">
      <p>
        {model.description}{" "}
        <Link to="/console/models/$" params={{ _splat: model.id }} className="text-accent underline underline-offset-2">
          About this model
        </Link>
      </p>
      <p className="text-xs">{model.capabilities.map(nameCapability).join(" · ")}</p>
    </div>
  );
}
