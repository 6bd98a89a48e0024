import { Icon } from "../../design/icon.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { ChosenModel, pickerClasses } from "./chosen-model.tsx";
import { listBriefPrices } from "./list-brief-prices.ts";
import type { ModelPickerProps } from "./model-picker-props.ts";

/** The list is a quarter of the playground's scripts, and loads after the form. */
export const ModelPicker = lazyPart(async () => (await import("./model-combobox.tsx")).ModelCombobox, ClosedPicker);

/** What the picker looks like once it has loaded. */
function ClosedPicker({ label = "Model", models, prices, chosenId }: ModelPickerProps) {
  const chosen = models.find(({ id }) => id === chosenId);
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <span className="text-sm font-medium">{label}</span>
      <div className={pickerClasses}>
        {chosen !== undefined && <ChosenModel model={chosen} price={listBriefPrices(prices).get(chosen.id) ?? ""} />}
        <Icon name="chevron" className="ml-auto size-3 rotate-90" />
      </div>
    </div>
  );
}
