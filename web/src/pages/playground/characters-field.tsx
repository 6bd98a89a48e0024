import { Button } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { TextField } from "../../design/text-field.tsx";
import { FileField } from "./file-field.tsx";
import type { CharactersMedia } from "./media-fields.ts";
import type { Character } from "./media-values.ts";

type CharactersFieldProps = {
  field: CharactersMedia;
  characters: readonly Character[];
  error: string | null;
  onChange(characters: Character[]): void;
};

export function CharactersField({ field, characters, error, onChange }: CharactersFieldProps) {
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
          {error}
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
