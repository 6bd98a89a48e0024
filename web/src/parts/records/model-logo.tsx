type ModelLogoProps = { model: { logo: string; type: string }; className?: string };

/** A model's logo. The CSP allows only images of this site; others fall back to the type's logo. */
export function ModelLogo({ model, className = "size-6" }: ModelLogoProps) {
  return <img src={findOwnLogo(model)} alt="" width={64} height={64} className={`shrink-0 rounded-md ${className}`} />;
}

function findOwnLogo({ logo, type }: ModelLogoProps["model"]): string {
  return /\/logos\/[a-z]+\.svg$/.exec(logo)?.[0] ?? `/logos/${type}.svg`;
}
