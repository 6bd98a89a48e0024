import type { Model, PriceList } from "../../api/fetch-catalog.ts";

export type ModelPickerProps = {
  label?: string;
  models: readonly Model[];
  prices: PriceList | undefined;
  chosenId: string;
  onChoose(id: string): void;
};
