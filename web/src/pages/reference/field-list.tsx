import { type ReactNode, useId } from "react";
import type { Field, Variant } from "../../api/reference-document.ts";
import { Icon } from "../../design/icon.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";

type FieldListProps = {
  fields: readonly Field[];
  /** Prefix of the fields' anchors; nested fields have none. */
  anchor?: string;
  /** Whether to mark required fields. */
  saysRequired: boolean;
};

/** Fields with collapsible nested fields. */
export function FieldList({ fields, anchor, saysRequired }: FieldListProps) {
  return (
    <ul className="flex flex-col divide-y divide-line">
      {fields.map((field) => (
        <FieldItem
          key={field.name}
          field={field}
          {...(anchor === undefined ? {} : { anchor: `${anchor}-${field.name}` })}
          saysRequired={saysRequired}
        />
      ))}
    </ul>
  );
}

type FieldItemProps = { field: Field; anchor?: string; saysRequired: boolean };

function FieldItem({ field, anchor, saysRequired }: FieldItemProps) {
  const { name, type, isRequired, text, facts = [], values = [], fields, variants } = field;
  return (
    <li id={anchor} className="group flex scroll-mt-6 flex-col gap-1.5 py-3 text-sm target:bg-accent-soft">
      <p className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
        <code className="font-mono font-medium text-ink">{name}</code>
        <span className="text-ink-soft">{type}</span>
        {saysRequired && isRequired === true && <span className="text-xs font-medium text-danger">required</span>}
        {anchor !== undefined && (
          <a
            href={`#${anchor}`}
            aria-label={`Link to: ${name}`}
            className="rounded-sm text-ink-soft opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
          >
            #
          </a>
        )}
      </p>
      {text !== undefined && (
        <p className="text-ink-soft">
          <InlineCodeText text={text} />
        </p>
      )}
      {values.length > 0 && (
        <p className="flex flex-wrap gap-1.5">
          <span className="sr-only">One of:</span>
          {values.map((value) => (
            <code key={value} className="rounded-sm border border-line px-1.5 font-mono text-xs">
              {value}
            </code>
          ))}
        </p>
      )}
      {facts.length > 0 && <p className="text-xs text-ink-soft">{facts.join(" · ")}</p>}
      {fields !== undefined && (
        <Fold label={`Fields of ${name}`}>
          <FieldList fields={fields} saysRequired={saysRequired} />
        </Fold>
      )}
      {variants !== undefined && <VariantList variants={variants} of={name} saysRequired={saysRequired} />}
    </li>
  );
}

type VariantListProps = { variants: readonly Variant[]; of: string; saysRequired: boolean };

export function VariantList({ variants, of, saysRequired }: VariantListProps) {
  const labelId = useId();
  return (
    <div className="flex flex-col gap-1.5">
      <p id={labelId} className="text-xs font-medium text-ink-soft">
        One of {variants.length} forms
      </p>
      <ul aria-labelledby={labelId} className="flex flex-col gap-1.5">
        {variants.map(({ title, fields, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: variants are static, and their titles may repeat.
          <li key={index}>
            <Fold label={title} of={of}>
              {text !== undefined && (
                <p className="pt-2 text-sm text-ink-soft">
                  <InlineCodeText text={text} />
                </p>
              )}
              <FieldList fields={fields} saysRequired={saysRequired} />
            </Fold>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Fold({ label, of, children }: { label: string; of?: string; children: ReactNode }) {
  return (
    <details className="rounded-md border border-line [&[open]>summary>svg]:rotate-90">
      <summary className="flex min-h-9 items-center gap-2 px-3 text-xs text-ink-soft hover:text-ink max-lg:min-h-11">
        <Icon name="chevron" className="size-3" />
        {of === undefined ? label : <code className="font-mono">{label}</code>}
        {of !== undefined && <span className="sr-only"> of {of}</span>}
      </summary>
      {/* Not prerendered: it cannot be expanded before the script loads. */}
      <div className="border-t border-line px-3">{import.meta.env.SSR ? null : children}</div>
    </details>
  );
}
