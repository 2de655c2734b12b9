/* embed – files in, one C file out: the arrays that the panel serves and migrates from.
 *
 *   embed web/openapi.yaml migrations/0001_panel.sql > embedded.c
 *
 * Each file becomes a row of `embedded_files[]` (hythe/util/embedded.h) in the order given. */
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *path)
{
	perror(path);
	exit(1);
}

static void array(const char *path, int index)
{
	FILE *in = fopen(path, "rb");
	int byte, column = 0;

	if (!in)
		fail(path);
	printf("static const unsigned char file_%d[] = {", index);
	while ((byte = getc(in)) != EOF)
		printf("%s%d,", column++ % 24 ? "" : "\n", byte);
	/* A NUL behind each file, so that SQL and text may be read as strings. */
	printf("0};\n");
	if (ferror(in))
		fail(path);
	fclose(in);
}

int main(int argc, char **argv)
{
	printf("/* made by web/embed.c */\n#include \"hythe/util/embedded.h\"\n");
	for (int i = 1; i < argc; i++)
		array(argv[i], i);
	printf("const struct embedded_file embedded_files[] = {\n");
	for (int i = 1; i < argc; i++)
		printf("{\"%s\", (const char *)file_%d, sizeof file_%d - 1},\n", argv[i], i, i);
	printf("{0, 0, 0}};\n");
	return 0;
}
