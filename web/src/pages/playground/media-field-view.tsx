import { SelectField } from "../../design/select-field.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import { CharactersField } from "./characters-field.tsx";
import { type Dropped, FileField } from "./file-field.tsx";
import type { MediaField, TextMedia } from "./media-fields.ts";
import {
  countCharacters,
  type MediaValue,
  type MediaValues,
  readCharacters,
  readChoice,
  readFiles,
  readText,
} from "./media-values.ts";

type MediaFieldViewProps = {
  field: MediaField;
  values: MediaValues;
  error: string | null;
  dropped?: Dropped | null;
  onChange(value: MediaValue): void;
};

export function MediaFieldView({ field, values, error, dropped = null, onChange }: MediaFieldViewProps) {
  switch (field.kind) {
    case "text":
      return <TextMediaField field={field} value={readText(values, field.name)} error={error} onChange={onChange} />;
    case "choice":
      return (
        <SelectField
          label={field.label}
          name={field.name}
          options={field.options}
          hint={field.hint}
          value={readChoice(values, field)}
          onChange={onChange}
          error={error}
        />
      );
    case "number":
      return (
        <TextField
          label={field.label}
          name={field.name}
          inputMode={field.isWhole ? "numeric" : "decimal"}
          placeholder={String(field.usual)}
          hint={`From ${field.min} to ${field.max}.`}
          value={readText(values, field.name)}
          onChange={onChange}
          error={error}
        />
      );
    case "files":
      return (
        <FileField
          field={field}
          files={readFiles(values, field.name)}
          error={error}
          dropped={dropped}
          onChange={onChange}
        />
      );
    case "characters":
      return (
        <CharactersField
          field={field}
          characters={readCharacters(values, field.name)}
          error={error}
          onChange={onChange}
        />
      );
  }
}

type TextMediaFieldProps = { field: TextMedia; value: string; error: string | null; onChange(value: string): void };

function TextMediaField({ field, value, error, onChange }: TextMediaFieldProps) {
  if (field.rows === 1) {
    return <TextField label={field.label} name={field.name} value={value} onChange={onChange} error={error} />;
  }
  const count = countCharacters(value);
  const room =
    field.charactersMax === null ? "" : ` ${formatCount(count)} of ${formatCount(field.charactersMax)} characters.`;
  return (
    <TextArea
      label={field.label}
      name={field.name}
      rows={field.rows}
      className={field.rows > 4 ? "min-h-48" : "min-h-28"}
      value={value}
      onChange={onChange}
      hint={<span className="tabular-nums">{`${field.hint ?? ""}${room}`}</span>}
      error={error}
    />
  );
}
