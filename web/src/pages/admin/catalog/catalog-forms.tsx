import { type ReactNode, useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { Button } from "../../../design/button.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { TextArea } from "../../../design/text-area.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { adminApi } from "../admin-api.ts";

type FormProps = { catalog: string; onChange(catalog: string): void };
type DialogProps = FormProps & { onClose(): void };

const forms = [
  { name: "price", label: "Change a price", Form: ChangePrice },
  { name: "add", label: "Add a model", Form: AddModel },
  { name: "remove", label: "Remove a model", Form: RemoveModel },
  { name: "import", label: "Import a list", Form: ImportList },
] as const;

/** Changes of the file below without writing YAML. */
export function CatalogForms({ catalog, onChange }: FormProps) {
  const [open, setOpen] = useState<(typeof forms)[number]["name"] | null>(null);
  const chosen = forms.find(({ name }) => name === open);
  return (
    <div className="flex flex-wrap gap-3">
      {forms.map(({ name, label }) => (
        <Button key={name} onClick={() => setOpen(name)}>
          {label}
        </Button>
      ))}
      {chosen !== undefined && <chosen.Form {...{ catalog, onChange }} onClose={() => setOpen(null)} />}
    </div>
  );
}

type Edited = { catalog: string; problems: readonly { line: number; message: string }[] };
type EditFormProps = {
  title: string;
  fields: readonly string[];
  send(): Promise<Edited>;
  onChange(catalog: string): void;
  onClose(): void;
  children(errorAt: (field: string) => string | null): ReactNode;
};

function EditForm({ title, fields, send, onChange, onClose, children }: EditFormProps) {
  const names = fields.flatMap((name) => [name, `edit.${name}`]);
  const edit = useAction(
    async () => {
      const edited = await send();
      const [first] = edited.problems;
      if (first !== undefined) throw new Error(`The file has a problem in line ${first.line}: ${first.message}`);
      return edited.catalog;
    },
    (catalog) => {
      onChange(catalog);
      onClose();
    },
  );
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          edit.run(undefined);
        }}
      >
        <FormError message={edit.errorBeside(...names)} />
        {children((field) => edit.errorAt(`edit.${field}`) ?? edit.errorAt(field))}
        <p className="text-sm text-ink-soft">This changes the file on this page. Nothing is live until you apply it.</p>
        <div className="flex flex-wrap justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isBusy={edit.isBusy}>
            Change the file
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const amounts = [
  { value: "token", label: "Input and output tokens" },
  { value: "flat", label: "One price per unit" },
] as const;

function ChangePrice({ catalog, onChange, onClose }: DialogProps) {
  const [model, setModel] = useState("");
  const [kind, setKind] = useState<"token" | "flat">("token");
  const [input, setInput] = useState("");
  const [output, setOutput] = useState("");
  const given = (name: string, text: string) => (text.trim() === "" ? {} : { [name]: text.trim() });
  const sent =
    kind === "token" ? { ...given("input_price", input), ...given("output_price", output) } : given("price", input);
  return (
    <EditForm
      title="Change a price"
      fields={["model", "amounts"]}
      send={() =>
        ask(
          adminApi.POST("/catalog/edits", {
            body: { catalog, edit: { kind: "set_price", model: model.trim(), amounts: sent } },
          }),
        )
      }
      {...{ onChange, onClose }}
    >
      {(errorAt) => (
        <>
          <TextField label="Model ID" name="model" value={model} onChange={setModel} error={errorAt("model")} />
          <SelectField
            label="Price of"
            options={amounts}
            value={kind}
            onChange={(value) => setKind(value === "flat" ? "flat" : "token")}
          />
          <TextField
            label={kind === "token" ? "Input price" : "Price"}
            name="input"
            inputMode="decimal"
            hint="In the unit that the file has. Empty: stays."
            value={input}
            onChange={setInput}
            error={errorAt("amounts")}
          />
          {kind === "token" && (
            <TextField label="Output price" name="output" inputMode="decimal" value={output} onChange={setOutput} />
          )}
        </>
      )}
    </EditForm>
  );
}

const modelFields = [
  { name: "provider", label: "Provider", hint: "The id of a provider in the file." },
  { name: "upstream_model", label: "Upstream model", hint: "As the vendor names it." },
  { name: "id", label: "Model ID", hint: "As customers call it." },
  { name: "name", label: "Name", hint: "For people." },
  { name: "max_output_tokens", label: "Max output tokens", hint: undefined },
  { name: "input_price", label: "Input price per million tokens", hint: undefined },
  { name: "output_price", label: "Output price per million tokens", hint: undefined },
] as const;

type ModelField = (typeof modelFields)[number]["name"];

const emptyModel: Readonly<Record<ModelField, string>> = {
  ...{ provider: "", upstream_model: "", id: "", name: "", max_output_tokens: "16384" },
  ...{ input_price: "", output_price: "" },
};

function AddModel({ catalog, onChange, onClose }: DialogProps) {
  const [model, setModel] = useState(emptyModel);
  return (
    <EditForm
      title="Add a chat model"
      fields={modelFields.map(({ name }) => name)}
      send={() => {
        const edit = { kind: "add_model" as const, ...model, max_output_tokens: Number(model.max_output_tokens) };
        return ask(adminApi.POST("/catalog/edits", { body: { catalog, edit } }));
      }}
      {...{ onChange, onClose }}
    >
      {(errorAt) =>
        modelFields.map(({ name, label, hint }) => (
          <TextField
            key={name}
            label={label}
            name={name}
            hint={hint}
            value={model[name]}
            onChange={(value) => setModel({ ...model, [name]: value })}
            error={errorAt(name)}
          />
        ))
      }
    </EditForm>
  );
}

function RemoveModel({ catalog, onChange, onClose }: DialogProps) {
  const [model, setModel] = useState("");
  return (
    <EditForm
      title="Remove a model"
      fields={["model"]}
      send={() =>
        ask(adminApi.POST("/catalog/edits", { body: { catalog, edit: { kind: "remove_model", model: model.trim() } } }))
      }
      {...{ onChange, onClose }}
    >
      {(errorAt) => (
        <TextField
          label="Model ID"
          name="model"
          hint="With its prices. To stop it for a while, disable its route instead."
          value={model}
          onChange={setModel}
          error={errorAt("model")}
        />
      )}
    </EditForm>
  );
}

const sources = ["models.dev", "litellm", "openrouter"] as const;

function ImportList({ catalog, onChange, onClose }: DialogProps) {
  const [source, setSource] = useState<(typeof sources)[number]>("models.dev");
  const [provider, setProvider] = useState("");
  const [markup, setMarkup] = useState("1.2");
  const [list, setList] = useState("");
  return (
    <EditForm
      title="Import a vendor's list"
      fields={["provider", "markup", "list"]}
      send={() =>
        ask(
          adminApi.POST("/catalog/imports", {
            body: { catalog, source, list, provider: provider.trim(), markup: markup.trim() },
          }),
        )
      }
      {...{ onChange, onClose }}
    >
      {(errorAt) => (
        <>
          <SelectField
            label="Form of the list"
            options={sources.map((value) => ({ value, label: value }))}
            value={source}
            onChange={(value) => setSource(sources.find((known) => known === value) ?? "models.dev")}
          />
          <TextField
            label="Provider"
            name="provider"
            hint="The id of the provider in the file that serves the models."
            value={provider}
            onChange={setProvider}
            error={errorAt("provider")}
          />
          <TextField
            label="Your prices: the vendor's times"
            name="markup"
            inputMode="decimal"
            value={markup}
            onChange={setMarkup}
            error={errorAt("markup")}
          />
          <TextArea
            label="The list, as downloaded"
            name="list"
            rows={6}
            spellCheck={false}
            className="font-mono text-xs"
            value={list}
            onChange={setList}
            error={errorAt("list")}
          />
        </>
      )}
    </EditForm>
  );
}
