{{- define "holdfast.labels" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "holdfast.selector" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "holdfast.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "holdfast.serviceAccount" -}}
{{ if .Values.serviceAccount.create }}{{ .Release.Name }}{{ else }}default{{ end }}
{{- end }}

{{/* What the pods of all components share. */}}
{{- define "holdfast.pod" -}}
serviceAccountName: {{ include "holdfast.serviceAccount" . }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "holdfast.container" -}}
image: {{ include "holdfast.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
envFrom:
  - configMapRef: { name: {{ .Release.Name }} }
  - secretRef: { name: {{ .Values.existingSecret }} }
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
{{- if .Values.objects.existingClaim }}
  - { name: objects, mountPath: /data/objects }
{{- end }}
{{- end }}

{{/* The named logins of the database, each from its own key of the Secret. */}}
{{- define "holdfast.logins" -}}
{{- $database := .root.Values.database }}
{{- if $database.requireLogins }}
- { name: REQUIRE_DATABASE_LOGINS, value: "true" }
{{- end }}
{{- if $database.existingSecret }}
{{- range .names }}
- { name: {{ . }}, valueFrom: { secretKeyRef: { name: {{ $database.existingSecret }}, key: {{ . }} } } }
{{- end }}
{{- end }}
{{- end }}

{{- define "holdfast.volumes" -}}
- name: data
  emptyDir: { medium: Memory, sizeLimit: {{ .Values.worker.temporaryFolder }} }
- name: tmp
  emptyDir: { medium: Memory, sizeLimit: 256Mi }
{{- with .Values.objects.existingClaim }}
- name: objects
  persistentVolumeClaim: { claimName: {{ . }} }
{{- end }}
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
