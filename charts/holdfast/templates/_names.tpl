{{- define "holdfast.labels" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* What finds the pods of a component: root, component, and of workers the group. It never changes: a Deployment's selector cannot. */}}
{{- define "holdfast.selector" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with .group }}
holdfast/group: {{ . | quote }}
{{- end }}
{{- end }}

{{- define "holdfast.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Of hooks that come before the release's own account there is only one that exists already. */}}
{{- define "holdfast.serviceAccount" -}}
{{- $account := .root.Values.serviceAccount -}}
{{ if not $account.create }}{{ $account.name | default "default" }}{{ else if .isHook }}default{{ else }}{{ $account.name | default .root.Release.Name }}{{ end }}
{{- end }}

{{/* A setting's text. YAML makes a float of a number, which Go would print as 1.048576e+08. */}}
{{- define "holdfast.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq (floor .) . }}{{ printf "%.0f" . }}{{ else }}{{ regexReplaceAll "0+$" (printf "%.12f" .) "" }}{{ end -}}
{{- else }}{{ toString . }}{{ end -}}
{{- end }}

{{/* The settings that are no secrets, one `name: "text"` a line; unset and empty ones are left out, 0 and false are not. */}}
{{- define "holdfast.settings" -}}
{{- range $name, $value := .Values.env }}
{{- if not (kindIs "invalid" $value) }}
{{- $text := include "holdfast.text" $value }}
{{- if $text }}
{{ $name }}: {{ $text | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.metrics.enabled }}
METRICS_PORT: {{ include "holdfast.text" .Values.metrics.port | quote }}
{{- end }}
{{- end }}

{{/* What the pods of all components share: root, isHook. */}}
{{- define "holdfast.pod" -}}
serviceAccountName: {{ include "holdfast.serviceAccount" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What all containers share: root, logins, env (lists of names and of entries), envFrom (its ConfigMap and Secrets), mounts, objects (whether it reads and writes them). */}}
{{- define "holdfast.container" -}}
image: {{ include "holdfast.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- $entries := concat (.env | default list) (include "holdfast.logins" . | fromYamlArray) .root.Values.extraEnv }}
{{- with $entries }}
env: {{ toYaml . | nindent 2 }}
{{- end }}
envFrom: {{ concat (.envFrom | default list) (list (dict "secretRef" (dict "name" .root.Values.existingSecret))) .root.Values.extraEnvFrom | toYaml | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
{{- if and .objects .root.Values.objects.existingClaim }}
  - { name: objects, mountPath: /data/objects }
{{- end }}
{{- with concat (.mounts | default list) .root.Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The named logins of the database, each from its own key of the Secret. */}}
{{- define "holdfast.logins" -}}
{{- $database := .root.Values.database }}
{{- $entries := list }}
{{- $entries = append $entries (dict "name" "REQUIRE_DATABASE_LOGINS" "value" (toString $database.requireLogins)) }}
{{- if $database.existingSecret }}
{{- range .logins }}
{{- $entries = append $entries (dict "name" . "valueFrom" (dict "secretKeyRef" (dict "name" $database.existingSecret "key" .))) }}
{{- end }}
{{- end }}
{{- toYaml $entries }}
{{- end }}

{{/* root, temporaryFolder, volumes, objects. */}}
{{- define "holdfast.volumes" -}}
- name: data
  emptyDir: { medium: Memory, sizeLimit: {{ .temporaryFolder }} }
- name: tmp
  emptyDir: { medium: Memory, sizeLimit: 256Mi }
{{- if and .objects .root.Values.objects.existingClaim }}
- name: objects
  persistentVolumeClaim: { claimName: {{ .root.Values.objects.existingClaim }} }
{{- end }}
{{- with concat (.volumes | default list) .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Annotations of a pod: root, own. The scrape of a ServiceMonitor and one by annotations would count everything twice. */}}
{{- define "holdfast.podAnnotations" -}}
{{- $all := dict "checksum/settings" (include "holdfast.settings" .root | sha256sum) }}
{{- $metrics := .root.Values.metrics }}
{{- if and $metrics.enabled (not $metrics.serviceMonitor.enabled) }}
{{- $all = merge $all (dict "prometheus.io/scrape" "true" "prometheus.io/path" "/metrics" "prometheus.io/port" (include "holdfast.text" $metrics.port)) }}
{{- end }}
{{- toYaml (merge (dict) (.own | default dict) .root.Values.podAnnotations $all) }}
{{- end }}

{{- define "holdfast.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "holdfast.selector" . | nindent 8 }}
{{- end }}

{{/* What the pods of one component may connect to. No `to` at all would be everywhere, so that no rule is the empty list. */}}
{{- define "holdfast.egress" -}}
{{- $rules := list }}
{{- range $name, $destination := .root.Values.networkPolicy.egress }}
{{- if and $destination (has $.component $destination.components) }}
{{- $rule := dict "ports" (required (printf "networkPolicy.egress.%s.ports is needed" $name) $destination.ports) }}
{{- if $destination.to }}{{ $_ := set $rule "to" $destination.to }}{{ end }}
{{- $rules = append $rules $rule }}
{{- end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}

{{/* `own` over `base`, at every depth, as YAML. Helm's own merges take 0 and false for nothing. */}}
{{- define "holdfast.overlay" -}}
{{- $all := deepCopy .base }}
{{- range $name, $value := .own }}
{{- $below := get $all $name }}
{{- if and (kindIs "map" $value) (kindIs "map" $below) }}
{{- $value = include "holdfast.overlay" (dict "base" $below "own" $value) | fromYaml }}
{{- end }}
{{- $_ := set $all $name $value }}
{{- end }}
{{- toYaml $all }}
{{- end }}
