import type { MediaType } from "./media-fields.ts";
import { type MediaValue, type MediaValues, parseValues } from "./media-values.ts";
import { useStoredState } from "./use-stored-state.ts";

/** Form values per model type, and the task on the canvas. */
export type Form = { values: MediaValues; taskId: string | null };
export type Forms = ReturnType<typeof useForms>;

const emptyForm: Form = { values: {}, taskId: null };
const kept = { parse: parseForms };

/** The forms of all types, kept here so that one type's output can fill another type's form. */
export function useForms() {
  const [forms, setForms] = useStoredState("forms", kept);
  const update = (type: MediaType, change: (form: Form) => Form) =>
    setForms((last) => ({ ...last, [type]: change(last[type] ?? emptyForm) }));
  return {
    read: (type: MediaType): Form => forms[type] ?? emptyForm,
    change: (type: MediaType, name: string, value: MediaValue) =>
      update(type, (form) => ({ ...form, values: { ...form.values, [name]: value } })),
    fill: (type: MediaType, values: MediaValues) => update(type, (form) => ({ ...form, values })),
    show: (type: MediaType, taskId: string | null) => update(type, (form) => ({ ...form, taskId })),
  };
}

function parseForms(stored: unknown): Partial<Record<MediaType, Form>> {
  if (typeof stored !== "object" || stored === null) return {};
  // Only this page writes it.
  const entries = Object.entries(stored as Record<string, Partial<Form> | null>);
  return Object.fromEntries(
    entries.map(([type, form]) => [
      type,
      { values: parseValues(form?.values), taskId: typeof form?.taskId === "string" ? form.taskId : null },
    ]),
  );
}
