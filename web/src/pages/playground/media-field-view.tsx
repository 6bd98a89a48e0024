import { Button } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import { type Dropped, FileField } from "./file-field.tsx";
import type { CharactersMedia, MediaField, TextMedia } from "./media-fields.ts";
import {
  type Character,
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

type CharactersFieldProps = {
  field: CharactersMedia;
  characters: readonly Character[];
  error: string | null;
  onChange(characters: Character[]): void;
};

function CharactersField({ field, characters, error, onChange }: CharactersFieldProps) {
  const change = (index: number, part: Partial<Character>) =>
    onChange(characters.map((each, position) => (position === index ? { ...each, ...part } : each)));
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="mb-1.5 text-sm font-medium">{field.label}</legend>
      <p className="text-sm text-ink-soft">Optional: the model finds characters in the script.</p>
      {characters.map((character, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: characters have no id.
          key={index}
          className="flex flex-col gap-4 border-l-2 border-line pl-4"
        >
          <TextField
            label={`Name of character ${index + 1}`}
            name={`character_${index + 1}`}
            maxLength={100}
            value={character.name}
            onChange={(name) => change(index, { name })}
          />
          <FileField
            field={{ name: `reference_${index + 1}`, label: "Reference image", takes: "image", countMax: 1 }}
            files={character.file === null ? [] : [character.file]}
            error={null}
            onChange={([file = null]) => change(index, { file })}
          />
          <div>
            <Button
              look="quiet"
              className="-ml-2"
              onClick={() => onChange(characters.filter((_, position) => position !== index))}
            >
              Remove character {index + 1}
            </Button>
          </div>
        </div>
      ))}
      {error !== null && (
        <p role="alert" className="text-sm text-danger">
          <InlineCodeText text={error} />
        </p>
      )}
      {characters.length < field.countMax && (
        <div>
          <Button onClick={() => onChange([...characters, { name: "", file: null }])}>
            <Icon name="plus" />
            Add a character
          </Button>
        </div>
      )}
    </fieldset>
  );
}
