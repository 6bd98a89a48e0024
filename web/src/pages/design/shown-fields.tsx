import { useState } from "react";
import { CheckField } from "../../design/check-field.tsx";
import { CheckList } from "../../design/check-list.tsx";
import { ChoiceField } from "../../design/choice-field.tsx";
import { CodeField } from "../../design/code-field.tsx";
import { DayField } from "../../design/day-field.tsx";
import { PasswordField } from "../../design/password-field.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";

const listOptions = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ value: `model-${index}`, label: `Model ${index}` }));

export function ShownFields() {
  const [text, setText] = useState("Something");
  const [option, setOption] = useState("model-1");
  const [isChecked, setChecked] = useState(true);
  const [chosen, setChosen] = useState<string[]>(["model-1"]);
  return (
    <>
      <TextField label="A text" value={text} onChange={setText} hint="A hint." />
      <TextField label="A text with an error" value={text} onChange={setText} error="This name is taken." />
      <TextField label="An empty text" value="" onChange={setText} placeholder="For example" />
      <TextArea label="A longer text" value={text} onChange={setText} />
      <PasswordField label="A password" value={text} onChange={setText} autoComplete="off" name="password" />
      <CodeField label="A code" name="code" kind="digits" value="123 456" onChange={() => {}} />
      <SelectField label="One of a few" options={listOptions(3)} value={option} onChange={setOption} />
      <div className="flex flex-wrap gap-3">
        <ChoiceField label="Few" options={listOptions(3)} value={option} onChange={setOption} />
        <ChoiceField label="Many" options={listOptions(300)} value={option} onChange={setOption} />
        <DayField label="A day" value="2026-11-17" onChange={() => {}} />
        <DayField label="A wrong day" value="2026-11-17" error="Choose a day after the first." onChange={() => {}} />
      </div>
      <CheckField label="A choice" isChecked={isChecked} onChange={setChecked} hint="A hint." />
      <CheckList
        legend="Models"
        allLabel="All models"
        isLimited
        onLimit={() => {}}
        options={listOptions(4)}
        chosen={chosen}
        onChoose={setChosen}
      />
    </>
  );
}
