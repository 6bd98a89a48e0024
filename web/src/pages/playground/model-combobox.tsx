import { Combobox } from "@base-ui/react/combobox";
import { useMemo } from "react";
import type { Model } from "../../api/fetch-catalog.ts";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { nameType, typeNames } from "../../parts/format/model-labels.ts";
import { ModelLogo } from "../../parts/records/model-logo.tsx";
import { filterModels } from "../models/filter-models.ts";
import { ChosenModel, ModelStatus, pickerClasses } from "./chosen-model.tsx";
import { listBriefPrices } from "./list-brief-prices.ts";
import type { ModelPickerProps } from "./model-picker-props.ts";

type ModelGroup = { value: string; items: Model[] };

/** Models, searchable by any word, with type and price. */
export function ModelCombobox({ label = "Model", models, prices, chosenId, onChoose }: ModelPickerProps) {
  const groups = useMemo(() => groupModels(models), [models]);
  const priceOf = useMemo(() => listBriefPrices(prices), [prices]);
  const chosen = models.find(({ id }) => id === chosenId) ?? null;
  return (
    <Combobox.Root
      items={groups}
      value={chosen}
      onValueChange={(model) => model !== null && onChoose(model.id)}
      filter={matchesModel}
      itemToStringLabel={({ name }) => name}
      isItemEqualToValue={(a, b) => a.id === b.id}
      autoHighlight
    >
      <div className="flex min-w-0 flex-col gap-1.5">
        <Combobox.Label className="text-sm font-medium">{label}</Combobox.Label>
        <Combobox.Trigger className={joinClasses(pickerClasses, "hover:bg-sunken")}>
          {chosen !== null && <ChosenModel model={chosen} price={priceOf.get(chosen.id) ?? ""} />}
          <Icon name="chevron" className="ml-auto size-3 rotate-90" />
        </Combobox.Trigger>
      </div>
      <Combobox.Portal>
        <Combobox.Positioner align="start" sideOffset={4} collisionPadding={12} className="z-20">
          <Combobox.Popup
            aria-label="Choose a model"
            className="flex max-h-[min(32rem,var(--available-height))] w-[min(36rem,var(--available-width))] min-w-[min(var(--anchor-width),var(--available-width))] flex-col overflow-hidden rounded-lg border border-line bg-surface text-ink shadow-float outline-none"
          >
            <div className="flex items-center gap-2 border-b border-line px-3">
              <Icon name="search" className="size-4 text-ink-soft" />
              <Combobox.Input
                aria-label="Search models"
                placeholder="Name, type or capability"
                className="min-h-12 w-full min-w-0 bg-transparent text-base outline-none placeholder:text-ink-soft"
              />
            </div>
            <Combobox.Empty>
              <p className="px-4 py-8 text-center text-sm text-ink-soft">No model matches.</p>
            </Combobox.Empty>
            <Combobox.List className="overflow-y-auto overscroll-contain scroll-py-8 p-1.5 empty:p-0">
              {(group: ModelGroup) => (
                <Combobox.Group key={group.value} items={group.items} className="pb-1.5">
                  <Combobox.GroupLabel className="px-2.5 pt-2 pb-1 text-xs font-semibold text-ink-soft">
                    {group.value}
                  </Combobox.GroupLabel>
                  <Combobox.Collection>
                    {(model: Model) => <ModelRow key={model.id} model={model} price={priceOf.get(model.id) ?? ""} />}
                  </Combobox.Collection>
                </Combobox.Group>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

/** `content-visibility` skips layout of offscreen rows: a catalog can have hundreds of models. */
function ModelRow({ model, price }: { model: Model; price: string }) {
  return (
    <Combobox.Item
      value={model}
      className="flex min-h-13 cursor-pointer items-center gap-3 rounded-md px-2.5 py-1.5 outline-none [contain-intrinsic-size:auto_3.25rem] [content-visibility:auto] data-highlighted:bg-sunken"
    >
      <ModelLogo model={model} className="size-8" />
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="flex items-center gap-2">
          <span className="truncate text-sm font-medium">{model.name}</span>
          <ModelStatus model={model} />
        </span>
        <span className="truncate text-xs text-ink-soft">
          <span className="tabular-nums">{price}</span>
          {price !== "" && " · "}
          <span className="font-mono">{model.id}</span>
        </span>
      </span>
      <Combobox.ItemIndicator className="text-accent">
        <Icon name="check" />
      </Combobox.ItemIndicator>
    </Combobox.Item>
  );
}

function groupModels(models: readonly Model[]): ModelGroup[] {
  return Object.keys(typeNames).flatMap((type) => {
    const items = models.filter((model) => model.type === type);
    return items.length === 0 ? [] : [{ value: nameType(type), items }];
  });
}

function matchesModel(model: Model, q: string): boolean {
  return filterModels([model], { q }).length > 0;
}
