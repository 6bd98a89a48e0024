{{- define "sluice.labels" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "sluice.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "sluice.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "sluice.environment" -}}
- name: SLUICE_SITE_URL
  value: {{ required "Set settings.site_url to the address that people open." .Values.settings.site_url | quote }}
{{- range $name, $value := omit .Values.settings "site_url" }}
- name: SLUICE_{{ upper $name }}
  {{- if kindIs "slice" $value }}
  value: {{ join "," $value | quote }}
  {{- else if kindIs "bool" $value }}
  value: {{ ternary "on" "off" $value | quote }}
  {{- else if kindIs "float64" $value }}
  value: {{ int64 $value | quote }}
  {{- else }}
  value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- if .Values.metrics.enabled }}
- name: SLUICE_METRICS_HOST
  value: 0.0.0.0
- name: SLUICE_METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
{{- end }}
{{- range .Values.secret.settings }}
- name: SLUICE_{{ upper . }}_FILE
  value: /run/secrets/sluice/{{ . }}
{{- end }}
{{- range .Values.secret.variables }}
- name: {{ . }}_FILE
  value: /run/secrets/sluice/{{ . }}
{{- end }}
{{- if .Values.tls.secretName }}
- name: SLUICE_TLS_CERT_FILE
  value: /run/secrets/tls/tls.crt
- name: SLUICE_TLS_KEY_FILE
  value: /run/secrets/tls/tls.key
{{- end }}
{{- end }}

{{- define "sluice.mounts" -}}
- { name: data, mountPath: /var/lib/sluice }
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /run/secrets/sluice, readOnly: true }
{{- if .Values.tls.secretName }}
- { name: tls, mountPath: /run/secrets/tls, readOnly: true }
{{- end }}
{{- end }}

{{- define "sluice.volumes" -}}
- name: data
  emptyDir: {}
- name: tmp
  emptyDir: {}
- name: secrets
  secret: { secretName: {{ .Values.secret.name }} }
{{- if .Values.tls.secretName }}
- name: tls
  secret: { secretName: {{ .Values.tls.secretName }} }
{{- end }}
{{- end }}
