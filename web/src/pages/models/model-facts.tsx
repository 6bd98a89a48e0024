import type { ReactNode } from "react";
import type { ModelDetail, PriceList } from "../../api/fetch-catalog.ts";
import { describeMinimum, describePrice } from "../../parts/format/describe-price.ts";
import { Capabilities } from "./capabilities.tsx";
import { describeLimits } from "./describe-limits.ts";

type ModelFactsProps = { model: ModelDetail; prices: PriceList["data"]; currency: string };

export function ModelFacts({ model, prices, currency }: ModelFactsProps) {
  const limits = describeLimits(model);
  return (
    <div className="flex flex-col gap-8">
      <Fact title="Price">
        <Pairs pairs={listPrices(prices, currency)} />
      </Fact>
      <Fact title="Capabilities">
        <Capabilities names={model.capabilities} />
      </Fact>
      {limits.length > 0 && (
        <Fact title="Limits">
          <Pairs pairs={limits} />
        </Fact>
      )}
      {model.advantages.length > 0 && (
        <Fact title="Strengths">
          <Words texts={model.advantages} />
        </Fact>
      )}
      {model.scenarios.length > 0 && (
        <Fact title="Use cases">
          <Words texts={model.scenarios} />
        </Fact>
      )}
    </div>
  );
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2.5 text-sm">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </section>
  );
}

type Pair = { name: string; text: string; detail?: string | null };

/** A model with one price needs no label. */
function listPrices(entries: PriceList["data"], currency: string): Pair[] {
  return entries.flatMap((entry) => {
    const detail = describeMinimum(entry, currency);
    return describePrice(entry, currency).map(({ name, text }) => ({ name: name ?? "All calls", text, detail }));
  });
}

function Pairs({ pairs }: { pairs: readonly Pair[] }) {
  return (
    <dl className="divide-y divide-line border-y border-line">
      {pairs.map(({ name, text, detail }) => (
        <div key={name} className="grid grid-cols-[8rem_minmax(0,1fr)] gap-3 py-2">
          <dt className="text-ink-soft">{name}</dt>
          <dd className="text-right tabular-nums">
            {text}
            {typeof detail === "string" && <span className="block text-xs text-ink-soft">{detail}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Words({ texts }: { texts: readonly string[] }) {
  return (
    <ul className="flex list-disc flex-col gap-1 pl-5 text-ink-soft">
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}
